CREATE TABLE other (a);
